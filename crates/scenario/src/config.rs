//! The settings of a generation, as the keys of the StaminaBench README: YAML files and `key=value` lists.
