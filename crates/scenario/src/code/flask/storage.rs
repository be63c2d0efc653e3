//! The classes that keep the records of the server, as they stand in its file.

/// A table whose deletions take records out.
pub(super) const TABLE: &str = r#"

class Table:
    """The records of one entity by id, in the order in which they came."""

    def __init__(self):
        self.records = {}
        self.last_id = 0

    def clear(self):
        """Removes everything; ids start again from 1."""
        self.records.clear()
        self.last_id = 0

    def add(self, values):
        """Keeps a new record and returns it."""
        self.last_id += 1
        record = {"id": self.last_id, **values}
        self.records[self.last_id] = record
        return record

    def find(self, record_id):
        """The record with this id, or None."""
        return self.records.get(record_id)

    def live(self):
        """All records."""
        return list(self.records.values())

    def remove(self, record):
        """Deletes a record."""
        del self.records[record["id"]]
"#;

/// A table whose deletions may mark records.
pub(super) const TABLE_WITH_SOFT_DELETE: &str = r#"

class Table:
    """The records of one entity by id, in the order in which they came."""

    def __init__(self, soft_delete=False):
        self.soft_delete = soft_delete
        self.records = {}
        self.last_id = 0

    def clear(self):
        """Removes everything; ids start again from 1."""
        self.records.clear()
        self.last_id = 0

    def add(self, values):
        """Keeps a new record and returns it."""
        self.last_id += 1
        record = {"id": self.last_id, **values}
        if self.soft_delete:
            record["deleted"] = False
        self.records[self.last_id] = record
        return record

    def find(self, record_id):
        """The record with this id that is not deleted, or None."""
        record = self.records.get(record_id)
        return None if record is None or (self.soft_delete and record["deleted"]) else record

    def live(self):
        """The records that are not deleted."""
        if not self.soft_delete:
            return list(self.records.values())
        return [record for record in self.records.values() if not record["deleted"]]

    def remove(self, record):
        """Deletes a record: marks it if deletion is soft here, else takes it out."""
        if self.soft_delete:
            record["deleted"] = True
        else:
            del self.records[record["id"]]
"#;

/// A deletion that reaches other records.
pub(super) const DELETION: &str = r#"

class Deletion:
    """What a deletion brings with it, worked out in full before anything changes."""

    def __init__(self):
        self.doomed = {}
        self.detached = []
        self.blockers = []

    def add(self, table, record):
        """Adds a record that is to be deleted; False if it was added before."""
        if id(record) in self.doomed:
            return False
        self.doomed[id(record)] = (table, record)
        return True

    def detach(self, record, field):
        """Adds a reference that is to become null."""
        self.detached.append((record, field))

    def block(self, record):
        """Adds a record that forbids the deletion, unless it is deleted itself."""
        self.blockers.append(record)

    def carry_out(self):
        """Changes the records, or refuses as a conflict."""
        if any(id(record) not in self.doomed for record in self.blockers):
            raise conflict("other records still refer to this one")
        for record, field in self.detached:
            record[field] = None
        for table, record in self.doomed.values():
            table.remove(record)
"#;
