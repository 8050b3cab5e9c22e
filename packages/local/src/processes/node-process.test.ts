import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NODE_FLAGS } from "#src/processes/node-process.ts";
import { root } from "#src/stack/layout.ts";
import { serviceNames } from "#src/stack/services.ts";

test("services run Node with the flag that makes V8 collect its old generation when the heap has doubled", () => {
  expect(NODE_FLAGS).toContain("--heap-growing-percent=100");
});

test("the image and the start script of every service pass the same flags to Node as the local stack", () => {
  const bundle = ["node", ...NODE_FLAGS, "dist/main.js"];
  const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
  expect(dockerfile).toContain(`ENTRYPOINT [${bundle.map((word) => `"${word}"`).join(", ")}]`);
  // Node ignores code that was compiled with other flags.
  expect(dockerfile).toContain(`${bundle.join(" ")} >/dev/null`);
  const entry = ["node", ...NODE_FLAGS, "src/main.ts"];
  for (const service of serviceNames) {
    const file = join(root, "services", service, "package.json");
    const { scripts } = JSON.parse(readFileSync(file, "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    expect(scripts.start).toBe(entry.join(" "));
  }
});
