import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../check/run-command.ts";
import { signFiles } from "./sign-files.ts";

const folder = mkdtempSync(join(tmpdir(), "postrider-sign-"));
const key = join(folder, "key");

beforeAll(() => {
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The command of docs/upgrading.md, which operators run beside the files of a release. */
function verify(): string {
  const page = readFileSync(join(root, "docs/upgrading.md"), "utf8");
  const [command = ""] = /^ssh-keygen -Y verify [^;]+?<provenance\.json$/m.exec(page) ?? [];
  return execFileSync("sh", ["-c", command], { cwd: folder, encoding: "utf8", stdio: "pipe" });
}

test.each(["1.0.0", "1.1.0"])(
  "the documented command verifies release %s with the allowed signers that the release writes",
  (version) => {
    writeFileSync(join(folder, "provenance.json"), `{"version": "${version}"}\n`);
    signFiles(folder, key, ["provenance.json"]);
    expect(verify()).toContain('Good "postrider-release" signature for release@postrider');
    writeFileSync(join(folder, "provenance.json"), "{}\n");
    expect(verify).toThrow("Signature verification failed");
  },
);

test("the allowed signers of a release verify its tag", () => {
  const repository = join(folder, "repository");
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", repository, ...args], { encoding: "utf8", stdio: "pipe" });
  execFileSync("git", ["init", "--quiet", repository]);
  const config = {
    "user.name": "Release",
    "user.email": "release@postrider.test",
    "gpg.format": "ssh",
    "user.signingkey": key,
    "gpg.ssh.allowedSignersFile": join(folder, "allowed_signers"),
  };
  for (const [name, value] of Object.entries(config)) git("config", name, value);
  git("commit", "--quiet", "--allow-empty", "--message", "first");
  signFiles(folder, key, []);
  git("tag", "--sign", "--message", "Postrider 1.0.0", "v1.0.0");
  expect(() => git("verify-tag", "v1.0.0")).not.toThrow();
});
