"""Write the tables of faults into the page that shows them."""

from tests.faults.told import main

main()
