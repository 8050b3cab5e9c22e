import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "#src/layout.ts";
import { NODE_FLAGS } from "#src/node-process.ts";
import { serviceNames } from "#src/services.ts";

// What the flag does to the memory of a process under load is measured by `bench/memory.ts`.
test("services run with a limit to the garbage in V8's old generation: it is collected when the heap has grown by half", () => {
  expect(NODE_FLAGS).toContain("--heap-growing-percent=50");
});

test("the image and the start script of every service pass the flags of the local stack to Node", () => {
  const entry = ["node", ...NODE_FLAGS, "src/main.ts"];
  expect(readFileSync(join(root, "Dockerfile"), "utf8")).toContain(
    `ENTRYPOINT [${entry.map((word) => `"${word}"`).join(", ")}]`,
  );
  for (const service of serviceNames) {
    const file = join(root, "services", service, "package.json");
    const { scripts } = JSON.parse(readFileSync(file, "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    expect(scripts.start).toBe(entry.join(" "));
  }
});
