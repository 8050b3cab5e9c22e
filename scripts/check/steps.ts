import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkLicences, checkVulnerabilities } from "./dependencies.ts";
import { type CommandResult, root, runCommand } from "./run-command.ts";

async function checkGeneratedCode(): Promise<CommandResult> {
  return inTemporaryFolder(async (folder) => {
    const args = ["generate", "--template", "proto/buf.gen.yaml", "proto", "-o", folder];
    const generated = await runCommand("buf", args);
    if (!generated.ok) return generated;
    const gen = "packages/contracts/gen";
    const folders = [join(root, gen), join(folder, gen)];
    const { ok, output } = await runCommand("git", ["diff", "--no-index", "--stat", ...folders]);
    return { ok, output: `${output}Run "npm run generate" and commit the result.` };
  });
}

/** It has to include every addition, which the check for breaking changes would otherwise miss. */
async function checkBaseline(): Promise<CommandResult> {
  return inTemporaryFolder(async (folder) => {
    const image = join(folder, "image.binpb");
    const built = await runCommand("buf", ["build", "proto", "-o", image]);
    if (!built.ok) return built;
    const same = readFileSync(image).equals(readFileSync(join(root, "proto/baseline.binpb")));
    const advice =
      'The contracts differ from their baseline: run "npm run proto:baseline", commit.';
    return same ? built : { ok: false, output: advice };
  });
}

/** Says so if no release is tagged in this clone. */
async function checkApiChanges(): Promise<CommandResult> {
  const { ok, output } = await runCommand("node", ["scripts/openapi-changes.ts"]);
  return { ok, output, note: ok ? output.trim() : "" };
}

async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "postrider-check-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Step {
  readonly name: string;
  readonly run: () => Promise<CommandResult>;
}

const command = (name: string, tool: string, ...args: string[]): Step => ({
  name,
  run: async () => runCommand(tool, args),
});

/** Only end-to-end tests and a few slow ones start whole stacks. */
export const PROGRAMS: Step = command(
  "the programs and the page that tests start are built",
  "node",
  "packages/local/src/processes/build-programs.ts",
);

export const STEPS: readonly Step[] = [
  // The S3 server for tests is built early: its first build takes minutes, for which the tests
  // would otherwise wait.
  command("the tests' S3 server is built", "node", "packages/local/src/s3/build-s3.ts"),
  // The longest steps begin first, with one thread each: several threads would each work out the
  // types of imports again, 36 instead of 25 s of CPU time here.
  command("lint (oxlint)", "env", "GOMAXPROCS=1", "oxlint", "--deny-warnings", "--threads=1"),
  // One TypeScript program for all packages checks each shared file only once. It takes a quarter
  // of the time that one program per package takes.
  command("types", "tsc", "-p", ".", "--singleThreaded"),
  command("types of the dashboard", "tsc", "-p", "packages/dashboard"),
  command("dead code and dependencies (knip)", "knip", "--no-progress"),
  { name: "generated code is committed", run: checkGeneratedCode },
  command("operations of the client are committed", "node", "scripts/client-types.ts", "--check"),
  command("contracts lint (buf)", "buf", "lint", "proto"),
  command("contracts format (buf)", "buf", "format", "--diff", "--exit-code", "proto"),
  command(
    "contracts stay compatible (buf)",
    "buf",
    "breaking",
    "proto",
    "--against",
    "proto/baseline.binpb",
  ),
  command("Kubernetes manifests agree with the code", "node", "scripts/manifests.ts"),
  command("alert rules for the Prometheus Operator", "node", "scripts/observability.ts", "--check"),
  command("RPCs admit the processes that call them", "node", "scripts/rpc-callers.ts", "--check"),
  command("settings are documented", "node", "scripts/configuration.ts", "--check"),
  { name: "contracts baseline is current", run: checkBaseline },
  { name: "licences of what we ship", run: checkLicences },
  { name: "known vulnerabilities of what we ship (pnpm audit)", run: checkVulnerabilities },
  { name: "the API stays compatible with the last release", run: checkApiChanges },
  command("format (oxfmt)", "oxfmt", "--check"),
];
