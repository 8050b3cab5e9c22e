export interface ReleaseFacts {
  readonly version: string;
  /** Output of `git status --porcelain`. */
  readonly changedFiles: string;
  readonly tags: readonly string[];
  readonly changelog: string;
  /** Versions of all packages, by file. */
  readonly packages: ReadonlyMap<string, string>;
  /** Texts of the manifests and compose files that name our images, by file. */
  readonly manifests: ReadonlyMap<string, string>;
  readonly unpinned: readonly string[];
}

/** Why this commit cannot be released; each fault in one line. */
export function findFaults(facts: ReleaseFacts): readonly string[] {
  const { version, packages, manifests } = facts;
  return [
    ...(/^\d+\.\d+\.\d+$/.test(version) ? [] : [`the version ${version} is not like 1.2.3`]),
    ...(facts.changedFiles === "" ? [] : ["the tree has changes: commit them first"]),
    ...(facts.tags.includes(`v${version}`) ? [`the tag v${version} exists already`] : []),
    ...changelogFaults(facts.changelog, version),
    ...[...packages]
      .filter(([, other]) => other !== version)
      .map(([file, other]) => `${file} has the version ${other} instead of ${version}`),
    ...[...manifests]
      .filter(([, text]) => versionsIn(text).some((other) => other !== version))
      .map(([file]) => `${file} names another version of our images than ${version}`),
    ...facts.unpinned.map((image) => `${image} has no digest: run npm run pin-images`),
  ];
}

function changelogFaults(changelog: string, version: string): readonly string[] {
  const entry = findEntry(changelog, version);
  if (entry === undefined) return [`CHANGELOG.md has no section "## ${version} (year-month-day)"`];
  const unreleased = findEntry(changelog, "Unreleased") ?? "";
  return [
    ...(entry === "" ? [`the section ${version} of CHANGELOG.md is empty`] : []),
    ...(unreleased === "" ? [] : ['CHANGELOG.md has changes under "Unreleased": move them']),
  ];
}

/** The text below the heading of a version; undefined when there is no such heading. */
export function findEntry(changelog: string, version: string): string | undefined {
  const [, ...sections] = changelog.split(/^## /m);
  const isWanted = (section: string): boolean => {
    const [heading = ""] = section.split("\n");
    return heading === version || /^ \(\d{4}-\d\d-\d\d\)$/.test(heading.slice(version.length));
  };
  const found = sections.find((section) => section.startsWith(version) && isWanted(section));
  return found?.split("\n").slice(1).join("\n").trim();
}

const OUR_VERSION = /newTag: (\S+)|POSTRIDER_VERSION:-([^}]+)\}|postrider\/[a-z]+:(\d+\.\d+\.\d+)/g;

function versionsIn(text: string): readonly string[] {
  return [...text.matchAll(OUR_VERSION)].map(
    ([, tag, fallback, image]) => tag ?? fallback ?? image ?? "",
  );
}
