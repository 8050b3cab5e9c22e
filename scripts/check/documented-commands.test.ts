import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nameFaults, unitFileFaults } from "./name-faults.ts";
import { root } from "./run-command.ts";

// The benchmarks are for developers, who put the project's Node on their PATH first.
const PAGES = ["*.md", "{deploy,docs}/**/*.md", "{packages,services,e2e}/*/README.md"];
const listPages = () =>
  globSync(PAGES, { cwd: root }).map((file) => ({
    file,
    text: readFileSync(join(root, file), "utf8"),
  }));
const { scripts, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly version: string;
};
/** Also as part of the name of a Job. */
const VERSION = new RegExp(`(?<![\\d.])${version.replaceAll(".", "[.-]")}\\b`, "g");

/**
 * Node 20 does not run TypeScript, a fresh checkout has no packages, a command with a version is
 * wrong after the next release, and the images start `dist/main.js` of their own folder.
 */
function findFaults(page: string): readonly string[] {
  const code = [...page.matchAll(/```[\s\S]+?```|`[^`\n]+`/g)].join("\n");
  const versioned = [...code.matchAll(VERSION)].map(([text]) => text);
  const elsewhere = [...page.matchAll(/\bcompose run .*(?:-w|--workdir)[ =]\S+/g)].map(
    ([text]) => text,
  );
  const direct = [...page.matchAll(/\bnode scripts\/[\w/-]+\.ts/g)].map(([text]) => text);
  const unknown = [...page.matchAll(/\bnpm run (?:-s |--silent )?([\w:-]+)/g)]
    .filter(([, name = ""]) => scripts[name] === undefined)
    .map(([text]) => text);
  return [...versioned, ...elsewhere, ...direct, ...unknown];
}

test("the documented commands work in a fresh checkout with Node 20, and still after the next release", () => {
  const faults = listPages().flatMap(({ file, text }) =>
    findFaults(text).map((fault) => `${file}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

test.each([
  "node scripts/manifests.ts deploy/k8s",
  "npm run -s manifest deploy/k8s",
  `\`git checkout v${version}\``,
  `\`\`\`sh\nkubectl delete job provision-${version.replaceAll(".", "-")}\n\`\`\``,
  'docker compose run --rm -v "$PWD:/work" -w /work cli "$@"',
])("the check of documented commands reports `%s`", (line) =>
  expect(findFaults(line)).toHaveLength(1),
);

test("a shell can parse the commands of the documents", () => {
  const input = listPages()
    .flatMap(({ text }) => [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)])
    .map(([, block = ""]) => block)
    .join("");
  const { stderr } = spawnSync("bash", ["-n"], { input, encoding: "utf8" });
  expect(input.length).toBeGreaterThan(10_000);
  expect(stderr).toBe("");
});

test("a folder on the data volume of compose.small.yaml that a document names lies where that is mounted", () => {
  const volumes = /^ *volumes: \["data:(\S+)"\]$/m.exec(
    readFileSync(join(root, "compose.small.yaml"), "utf8"),
  );
  const { text = "" } = listPages().find(({ file }) => file === "docs/operations.md") ?? {};
  const [, folder] =
    /compose\.small\.yaml` it lies on the data volume, as `(\S+)\/acme-export`/.exec(text) ?? [];
  expect(folder).toBe(volumes?.[1]);
});

test("each command that starts with the bootstrap is known to it", () => {
  const bootstrap = readFileSync(join(root, "scripts/bootstrap.mjs"), "utf8");
  const names = Object.values(scripts).flatMap(
    (text) => /bootstrap\.mjs (\S+)/.exec(text)?.[1] ?? [],
  );
  expect(names.filter((name) => !new RegExp(`"?${name}"?[:,\\]]`).test(bootstrap))).toEqual([]);
});

test("the documents name only settings, flags of `npm run`, units of systemd and tests that exist", () => {
  const faults = listPages().flatMap(({ file, text }) =>
    nameFaults(text).map((fault) => `${file}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

test.each([
  ["`PUBLIC_ADDRESS=https://post.example.com`", "nothing reads PUBLIC_ADDRESS"],
  ["`npm run cluster -- --rates 50`", "npm run cluster has no --rates"],
  ["`npm run drill failover -- --secs 5`", "npm run drill has no --secs"],
  ["`npm start -- --new`", "npm run start has no --new"],
  ["`systemctl restart postrider-gateway`", "there is no unit postrider-gateway"],
  ["`systemctl restrat postrider`", "systemctl restrat is not known"],
  ["`journalctl -u postrider-posts -o cat`", "there is no unit postrider-posts"],
  ["`npx vitest run --project e2e e2e/outage.test.ts`", "there is no test e2e/outage.test.ts"],
  ['`npx vitest run --project e2e e2e/crash- -t "is gone for"`', "no title contains is gone for"],
])("the check of names in documents reports what is wrong in %s", (page, fault) => {
  expect(nameFaults(page).join()).toContain(fault);
});

test("the units of systemd start programs of the checkout with settings that are read", () => {
  const units = globSync("deploy/systemd/*.service", { cwd: root });
  expect(units).toHaveLength(2);
  expect(units.flatMap((file) => unitFileFaults(readFileSync(join(root, file), "utf8")))).toEqual(
    [],
  );
  const broken =
    "WorkingDirectory=/opt/postrider\nExecStart=/bin/node --x packages/serve/main.js\n";
  expect(unitFileFaults(`${broken}Environment=DATA_FOLDER=/var`)).toEqual([
    "there is no program packages/serve/main.ts",
    "nothing reads DATA_FOLDER",
  ]);
});
