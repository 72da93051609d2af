"""What groundwire costs and how well it judges, measured; each module is one command."""
