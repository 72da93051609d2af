"""An airline's customer handbook, an application that answers from it, and prepared answers."""
