import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "@postrider/local/stack/layout";
import { expect, test } from "vitest";

test("no code of a server asks for the name of its user, because a user that systemd makes for a unit may have none", () => {
  const sources = globSync(
    ["services/*/src/**/*.ts", "packages/{local,serve,shared}/src/**/*.ts"],
    {
      cwd: root,
      exclude: (path) => path.endsWith(".test.ts"),
    },
  );
  expect(sources.length).toBeGreaterThan(100);
  const asking = sources.filter((file) =>
    readFileSync(join(root, file), "utf8").includes("userInfo("),
  );
  expect(asking).toEqual([]);
});
