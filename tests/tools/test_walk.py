"""The way of a record stays short: few files, few changes of room."""

import pytest
import walk


@pytest.mark.slow
@pytest.mark.parametrize("sink", walk.ALLOWED)
def test_a_record_crosses_few_files_and_seldom_changes_rooms(sink):
    way = walk.walk(sink)
    most_files, most_changes = walk.ALLOWED[sink]
    assert len(way.files) <= most_files, way.files
    assert way.changes_of_room <= most_changes and way.changes_of_top_folder <= most_changes, way.files
