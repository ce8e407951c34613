"""Libraries that have to be loaded before the native module: none."""
