import { expect, test } from "vitest";
import { goMinorVersion } from "#src/s3/s3-program.ts";

test.each([
  ["go version go1.26.8 linux/amd64", 26],
  ["go version go1.19 linux/arm64", 19],
  ["command not understood", undefined],
])("the version text `%s` is read as Go 1.%s", (text, version) => {
  expect(goMinorVersion(text)).toBe(version);
});
