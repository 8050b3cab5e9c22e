import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../check/run-command.ts";
import { pinOurImages, toProvenance } from "./artifacts.ts";
import { isLocalRegistry, platformsHere } from "./targets.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;

test("the production overlay names the registry and the digest of every image after a release, also after a second one", () => {
  const file = join(root, "deploy/k8s/overlays/production/kustomization.yaml");
  const text = readFileSync(file, "utf8");
  const names = ["gateway", "accounts", "posts", "media", "delivery", "cli"];
  const digests = new Map(names.map((name) => [`postrider/${name}`, DIGEST]));
  const pinned = pinOurImages(text, "registry.test/team", digests);
  for (const name of names)
    expect(pinned).toContain(`newName: registry.test/team/${name}\n    digest: ${DIGEST}`);
  expect(pinned).not.toContain("newTag");
  const second = new Map(names.map((name) => [`postrider/${name}`, DIGEST.replaceAll("ab", "cd")]));
  expect(pinOurImages(pinned, "registry.test/team", second)).toBe(
    pinned.replaceAll("ab".repeat(32), "cd".repeat(32)),
  );
});

test("the provenance names each image with its digest, the bill of materials and the commit", () => {
  const provenance = toProvenance({
    version: "1.2.0",
    commit: "c0ffee",
    registry: "registry.test/team",
    platforms: ["linux/amd64"],
    digests: new Map([["postrider/posts", DIGEST]]),
    sbomSha256: "12".repeat(32),
    baseImage: "node:24",
  });
  expect(provenance.subject).toEqual([
    { name: "registry.test/team/posts:1.2.0", digest: { sha256: "ab".repeat(32) } },
    { name: "sbom.json", digest: { sha256: "12".repeat(32) } },
  ]);
  expect(JSON.stringify(provenance)).toContain('"gitCommit":"c0ffee"');
});

test("a machine builds images for its own processor, and for another one with an emulator", () => {
  expect(platformsHere("x64", () => false)).toEqual(["linux/amd64"]);
  expect(platformsHere("arm64", () => true)).toEqual(["linux/amd64", "linux/arm64"]);
});

test("a dry run may push to a registry on this machine only", () => {
  expect(isLocalRegistry("127.0.0.1:5000/postrider")).toBe(true);
  expect(isLocalRegistry("localhost:5000")).toBe(true);
  expect(isLocalRegistry("127.0.0.1.example.com:5000/postrider")).toBe(false);
  expect(isLocalRegistry("registry.example.com/localhost:5000")).toBe(false);
});
