"""What the report is made of; see `report`."""
