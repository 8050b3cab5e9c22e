import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { documentErrors } from "./document.ts";

test("docs/api/errors.md lists exactly the errors of the catalogue", async () => {
  const path = new URL("../../../../../docs/api/errors.md", import.meta.url);
  await expect(documentErrors()).toMatchFileSnapshot(fileURLToPath(path));
});
