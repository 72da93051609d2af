"""Write the tables of faults into the pages that show them."""

from tests.faults.told import main

main()
