"""The workflows: pinned, with no rights but those that are named, and in the right order. zizmor looks for the rest."""

import re
import unittest

import yaml

from test_documents import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


class Workflows(unittest.TestCase):
    def test_every_action_is_pinned_by_commit_with_its_version_beside_it(self):
        found = 0
        for path in WORKFLOWS:
            for line in path.read_text().splitlines():
                if match := re.match(r"\s+(?:- )?uses: (.*)", line):
                    found += 1
                    pinned = r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+"
                    self.assertRegex(match[1], rf"^(?:{pinned}|\$/\.github/workflows/(?:ci|image)\.yml)$", path.name)
        self.assertGreater(found, 20)

    def test_no_right_is_given_to_a_whole_workflow_and_each_job_names_its_own(self):
        for path in WORKFLOWS:
            workflow = yaml.safe_load(path.read_text())
            self.assertEqual(workflow["permissions"], {}, path.name)
            for name, job in workflow["jobs"].items():
                self.assertIsInstance(job["permissions"], dict, f"{path.name}, {name}")

    def test_only_the_release_writes(self):
        harmless = {"security-events"}
        for path in WORKFLOWS:
            for name, job in yaml.safe_load(path.read_text())["jobs"].items():
                writes = {right for right, level in job["permissions"].items() if level == "write"} - harmless
                if path.name == "scorecard.yml":
                    writes -= {"id-token"}
                if path.name not in ("release.yml", "image.yml"):
                    self.assertEqual(writes, set(), f"{path.name}, {name}")

    def test_nothing_is_built_for_a_tag_that_is_not_the_version(self):
        jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
        self.assertIn('scripts/release-check "$GITHUB_REF_NAME"', [step.get("run") for step in jobs["check"]["steps"]])
        for name in jobs.keys() - {"check"}:
            needs, seen = jobs[name].get("needs"), {name}
            while needs != "check":
                self.assertIsNotNone(needs, f"{name} does not wait for the check")
                self.assertNotIn(needs, seen)
                seen.add(needs)
                needs = jobs[needs].get("needs")

    def test_an_image_is_made_of_what_has_passed(self):
        jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
        tested = {name for name, job in jobs.items() if job.get("uses") == "$/.github/workflows/ci.yml"}
        self.assertIn(jobs["image"]["needs"], tested)
        ci = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
        self.assertIn(".ci/run", [step.get("run") for job in ci.values() for step in job["steps"]])

    def test_each_platform_is_attested_by_its_own_digest_and_everything_is_signed(self):
        jobs = yaml.safe_load((ROOT / ".github/workflows/image.yml").read_text())["jobs"]
        steps = jobs["publish"]["steps"]
        attested = [step["with"] for step in steps if step.get("uses", "").startswith("actions/attest@")]
        for platform in ("amd64", "arm64"):
            digest = "${{ steps.index.outputs.%s }}" % platform
            documents = {entry.get("sbom-path") for entry in attested if entry.get("subject-digest") == digest}
            self.assertEqual(documents, {None, f"sbom/{platform}.cdx.json", f"sbom/{platform}.spdx.json"})
        for entry in attested:
            if "subject-digest" in entry:
                self.assertIs(entry["push-to-registry"], True)
        self.assertIn('cosign sign --yes --recursive "$IMAGE@$DIGEST"', [step.get("run") for step in steps])

    def test_the_workflow_that_signs_does_nothing_for_another_repository(self):
        # The certificate names the workflow that was called, whoever called it.
        jobs = yaml.safe_load((ROOT / ".github/workflows/image.yml").read_text())["jobs"]
        for name, job in jobs.items():
            self.assertEqual(job.get("if"), "github.repository == 'wg-easy-mcp/wg-easy-mcp'", name)

    def test_whoever_verifies_asks_for_the_repository_as_well(self):
        commands = (ROOT / "docs/verify.md").read_text().replace("\\\n", " ").splitlines()
        verifying = [line for line in commands if line.startswith(("cosign verify", "gh attestation verify"))]
        self.assertEqual(len(verifying), 5)
        for line in verifying:
            self.assertRegex(line, r'--(certificate-github-workflow-repository|repo) "\$REPOSITORY"')

    def test_what_is_signed_was_built_by_the_workflow_that_signs(self):
        # Every job of a run may leave files for the others, so each is taken by the name that the build gave it.
        jobs = yaml.safe_load((ROOT / ".github/workflows/image.yml").read_text())["jobs"]
        taken = [step["with"] for step in jobs["publish"]["steps"] if step.get("uses", "").startswith("actions/download-artifact@")]
        left = [step["with"]["name"] for step in jobs["build"]["steps"] if step.get("uses", "").startswith("actions/upload-artifact@")]
        self.assertEqual(left, ["built-${{ matrix.platform }}"])
        platforms = [entry["platform"] for entry in jobs["build"]["strategy"]["matrix"]["include"]]
        self.assertEqual([entry.get("name") for entry in taken], [f"built-{platform}" for platform in platforms])
        for entry in taken:
            self.assertEqual(entry.keys(), {"name", "path"})

    def test_an_image_has_a_versions_name_when_all_is_signed_and_is_announced_after_that(self):
        steps = yaml.safe_load((ROOT / ".github/workflows/image.yml").read_text())["jobs"]["publish"]["steps"]
        naming = [number for number, step in enumerate(steps) if "publish-image name" in step.get("run", "")]
        self.assertEqual(naming, [len(steps) - 1])
        jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
        self.assertEqual((jobs["registry"]["needs"], jobs["release"]["needs"]), ("release", "image"))

    def test_the_builder_and_the_tools_that_an_action_fetches_are_pinned(self):
        for path in WORKFLOWS:
            for name, job in yaml.safe_load(path.read_text())["jobs"].items():
                for step in job.get("steps", []):
                    action, given = step.get("uses", "").partition("@")[0], step.get("with", {})
                    if action == "docker/setup-buildx-action":
                        self.assertRegex(given.get("driver-opts", ""), r"^image=docker\.io/moby/buildkit:v[0-9.]+@sha256:[0-9a-f]{64}$")
                    if action == "zizmorcore/zizmor-action":
                        self.assertIn(f"zizmor=={given.get('version')}", (ROOT / "tests/requirements.txt").read_text(), name)

    def test_what_they_run_is_there(self):
        for path in WORKFLOWS:
            for script in re.findall(r"(?:scripts/|\.ci/)[\w-]+", path.read_text()):
                if script != ".ci/run":
                    self.assertTrue((ROOT / script).exists(), f"{path.name}: {script}")

    def test_other_files_are_of_the_form_that_they_should_be(self):
        for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
            form = yaml.safe_load(path.read_text())
            if path.name != "config.yml":
                self.assertLessEqual({"name", "description", "body"}, form.keys())
                ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
                self.assertEqual(len(ids), len(set(ids)))
        updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]
        self.assertLessEqual({"cargo", "github-actions", "docker"}, {update["package-ecosystem"] for update in updates})
        for update in updates:
            self.assertGreaterEqual(update["cooldown"]["default-days"], 7)


if __name__ == "__main__":
    unittest.main()
