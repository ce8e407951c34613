"""Which stages are due, in a repository of two far stages: scripts/stages.py is run as scripts/test runs it."""

import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
STAGES = """
[near.build]
[near.tidy]
only_quick = true
[near.cpp]
[near.python]
[near.docs]
[far.vendor]
own = ["vendor"]
depends = ["kit"]
[far.system]
packages = ["toolchain"]
own = ["system"]
depends = ["kit/*.txt"]
weekly = true
"""


class Repository:
    def __init__(self, folder):
        self.folder = folder
        (folder / "scripts").mkdir()
        shutil.copy(SCRIPTS / "stages.py", folder / "scripts")
        (folder / "scripts" / "stages.toml").write_text(STAGES)
        self.git("init", "-q", "-b", "main")
        for name in ("vendor/a.cc", "system/a.cmake", "kit/kit.cc", "kit/list.txt", "other.txt"):
            self.commit(name, days_ago=40)

    def git(self, *arguments, date=None):
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "N"), ("EMAIL", "e@x"))}
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        subprocess.run(["git", *arguments], cwd=self.folder, env={**os.environ, **who, **dates}, check=True)

    def commit(self, name, days_ago=0):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{path.read_text() if path.exists() else ''}line\n")
        self.git("add", name)
        self.git("commit", "-qm", name, date=(datetime.datetime.now() - datetime.timedelta(days=days_ago)).isoformat())

    def run(self, *arguments):
        run = subprocess.run([sys.executable, "scripts/stages.py", *arguments], cwd=self.folder, capture_output=True, text=True)
        return run.returncode, (run.stdout + run.stderr).split()

    def due(self):
        return self.run("choose", "due")[1]

    def passed(self, *names, days_ago=0):
        for name in names:
            before = self.run("hash", name)[1][0]
            assert self.run("passed", name, before, "12", "3", "0")[0] == 0
            path = self.folder / "tests" / "stands" / "passed" / f"{name}.json"
            facts = json.loads(path.read_text())
            assert (facts["passed"], facts["skipped"], facts["seconds"]) == (3, 0, 12)
            facts["date"] = str(datetime.date.today() - datetime.timedelta(days=days_ago))
            path.write_text(json.dumps(facts))

    def record(self, name, days_ago):
        """Commits what passed() wrote."""
        self.git("add", f"tests/stands/passed/{name}.json")
        self.git("commit", "-qm", name, date=(datetime.datetime.now() - datetime.timedelta(days=days_ago)).isoformat())


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def test_nothing_is_due_where_all_have_passed(repository):
    repository.passed("vendor", "system")
    command = [sys.executable, "scripts/stages.py", "choose", "due"]
    assert subprocess.run(command, cwd=repository.folder, capture_output=True).stdout == b""  # not an empty name
    assert repository.run("estimate", "vendor") == (0, ["12"])


def test_words_name_stages_in_their_order(repository):
    assert repository.run("choose")[1] == ["build", "cpp", "python", "docs"]
    assert repository.run("choose", "far")[1] == ["vendor", "system"]
    assert repository.run("choose", "cpp", "quick")[1] == ["cpp", "build", "tidy", "python", "docs"]
    status, message = repository.run("choose", "cp")
    assert status != 0 and "'cp';" in message and "vendor" in message


def test_what_never_passed_is_due_and_what_passed_is_not(repository):
    assert sorted(repository.due()) == ["system", "vendor"]
    repository.passed("vendor")
    assert repository.due() == ["system"]
    repository.passed("system")
    assert repository.due() == [] or repository.due() == [""]


def test_a_change_of_what_a_stage_depends_on_makes_it_due(repository):
    repository.passed("vendor", "system")
    repository.commit("other.txt")
    assert repository.due() == []
    repository.commit("kit/kit.cc")  # not among system's kit/*.txt
    assert repository.due() == ["vendor"]
    (repository.folder / "system" / "new.cmake").write_text("")  # not committed
    assert sorted(repository.due()) == ["system", "vendor"]


def test_stages_whose_own_files_are_new_come_first(repository):
    for name, other in (("vendor", "system"), ("system", "vendor")):
        repository.commit("other.txt", days_ago=20)
        repository.commit(f"{name}/a.{'cc' if name == 'vendor' else 'cmake'}")
        repository.passed(other)
        assert repository.due()[0] == name
        repository.passed(name)


def test_those_that_are_weekly_are_due_after_seven_days(repository):
    repository.passed("vendor", "system", days_ago=8)
    assert repository.due() == ["system"]


def test_due_for_fourteen_days_is_a_warning_and_for_a_change_of_its_own_an_error(repository):
    repository.passed("system")
    repository.commit("other.txt")
    status, words = repository.run("overdue")  # of 40 days
    assert status == 0 and words[0] == "WARNING:" and "vendor" in words
    repository.commit("vendor/a.cc")
    status, words = repository.run("overdue")
    assert status == 3 and words[0] == "ERROR:"
    assert repository.run("overdue", "vendor") == (0, [])
    repository.passed("vendor")
    assert repository.run("overdue") == (0, [])


def test_a_change_does_not_take_days_off_a_stage_that_was_due(repository):
    repository.passed("vendor", "system", days_ago=22)
    repository.record("system", days_ago=22)
    repository.record("vendor", days_ago=22)
    assert repository.run("overdue")[1][:4] == ["WARNING:", "due", "for", "15"]
    repository.commit("system/a.cmake")
    status, words = repository.run("overdue")
    assert status == 3 and words[:4] == ["ERROR:", "due", "for", "15"]


def test_a_stage_that_fails_is_due_until_it_passes(repository):
    repository.passed("vendor", "system")
    assert repository.run("failed", "vendor")[0] == 0
    assert repository.due() == ["vendor"]
    repository.passed("vendor")
    assert repository.due() == []
    assert repository.run("failed", "build")[0] == 0 and repository.due() == []


def test_days_count_from_the_first_commit_after_the_record(repository):
    repository.passed("vendor", "system", days_ago=20)
    repository.record("vendor", days_ago=20)
    repository.commit("kit/kit.cc", days_ago=20)  # later on the same day, or merged from a branch
    repository.commit("other.txt")
    status, words = repository.run("overdue")
    assert status == 0 and words[:5] == ["WARNING:", "due", "for", "20", "days,"]


def test_a_history_that_is_cut_makes_no_error(repository, tmp_path_factory):
    cut = tmp_path_factory.mktemp("cut") / "clone"
    repository.git("add", "scripts")
    repository.git("commit", "-qm", "stages")
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.folder}", str(cut))
    run = subprocess.run([sys.executable, "scripts/stages.py", "overdue"], cwd=cut, capture_output=True, text=True)
    assert run.returncode == 0 and "due, not run: vendor" in run.stdout


def test_what_changes_while_a_stage_runs_is_not_recorded(repository):
    before = repository.run("hash", "vendor")[1][0]
    repository.commit("vendor/a.cc")
    assert repository.run("passed", "vendor", before, "1", "1", "0")[0] == 0
    assert not (repository.folder / "tests" / "stands" / "passed" / "vendor.json").exists()


def test_a_stage_that_is_new_is_due_from_then_on(repository):
    repository.git("add", "scripts/stages.toml")
    repository.git("commit", "-qm", "stages")
    status, words = repository.run("overdue")
    assert status == 0 and "run:" in words and "WARNING:" not in words


def test_the_stages_here_have_what_they_name():
    script = (SCRIPTS / "lib" / "stages.sh").read_text() + (SCRIPTS / "lib" / "fuzz.sh").read_text()
    chosen = subprocess.run([sys.executable, SCRIPTS / "stages.py", "choose", "all"], capture_output=True, text=True, check=True)
    for name in chosen.stdout.split():
        assert f"stage_{name}()" in script, name
        own = subprocess.run([sys.executable, SCRIPTS / "stages.py", "field", name, "own"], capture_output=True, text=True, check=True)
        for path in own.stdout.split():
            assert list(SCRIPTS.parent.glob(path)), f"{name}: {path} is no file here"
