import { expect, test } from "vitest";
import { findEntry, findFaults, type ReleaseFacts } from "./find-faults.ts";

const CHANGELOG = `# Changes

## Unreleased

## 1.2.0 (2026-11-29)

- Something.

## 1.1.0 (2026-10-01)

- Older.
`;

const FACTS: ReleaseFacts = {
  version: "1.2.0",
  changedFiles: "",
  tags: ["v1.1.0"],
  changelog: CHANGELOG,
  packages: new Map([["packages/cli/package.json", "1.2.0"]]),
  manifests: new Map([["kustomization.yaml", "newTag: 1.2.0"]]),
  unpinned: [],
};

test("a clean commit with a new version and its section of the changelog can be released", () => {
  expect(findFaults(FACTS)).toEqual([]);
});

test.each([
  ["the version next is not like 1.2.3", { version: "next" }],
  ["the tree has changes: commit them first", { changedFiles: " M README.md" }],
  ["the tag v1.2.0 exists already", { tags: ["v1.1.0", "v1.2.0"] }],
  ['CHANGELOG.md has no section "## 1.2.0 (year-month-day)"', { changelog: "# Changes\n" }],
  [
    "the section 1.2.0 of CHANGELOG.md is empty",
    { changelog: CHANGELOG.replace("- Something.", "") },
  ],
  [
    'CHANGELOG.md has changes under "Unreleased": move them',
    { changelog: CHANGELOG.replace("## Unreleased", "## Unreleased\n\n- New.") },
  ],
  ["a.json has the version 1.1.0 instead of 1.2.0", { packages: new Map([["a.json", "1.1.0"]]) }],
  [
    "compose.small.yaml names another version of our images than 1.2.0",
    { manifests: new Map([["compose.small.yaml", "image: x:${POSTRIDER_VERSION:-1.1.0}"]]) },
  ],
  [
    "job.yaml names another version of our images than 1.2.0",
    { manifests: new Map([["job.yaml", "image: postrider/posts:1.1.0"]]) },
  ],
  ["postgres:18 has no digest: run npm run pin-images", { unpinned: ["postgres:18"] }],
])("a release is refused: %s", (fault, changed) => {
  expect(findFaults({ ...FACTS, ...changed })).toContain(fault);
});

test("the section of a version is not that of a longer version", () => {
  expect(findEntry(CHANGELOG, "1.1.0")).toBe("- Older.");
  expect(findEntry(CHANGELOG, "1.1")).toBeUndefined();
});
