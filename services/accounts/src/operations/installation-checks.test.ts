import { runChecks } from "@postrider/shared/diagnostics/finding";
import { expect, test } from "vitest";
import { createCellChecks } from "./installation-checks.ts";

const EU1 = "https://eu1.example.com";
const addresses = new Map([
  ["eu1", EU1],
  ["us1", "https://us1.example.com"],
]);

const find = async (own: string | undefined, publicUrl: string, known = addresses) =>
  await runChecks(createCellChecks({ own, addresses: known }, publicUrl));

test("the doctor names the cell and the others that it knows, and nothing without cells", async () => {
  expect(await find("eu1", EU1)).toMatchObject([
    { name: "cell", status: "ok", found: "this is the cell eu1; it knows us1" },
  ]);
  expect(await find("eu1", EU1, new Map())).toMatchObject([
    { status: "ok", found: "this is the cell eu1; it knows no other" },
  ]);
  expect(await find(undefined, EU1, new Map())).toEqual([]);
});

test("the doctor finds that other cells would send clients to a wrong address of this one", async () => {
  const [finding] = await find("eu1", "https://api.example.com");
  expect(finding).toMatchObject({ status: "failed", guide: "scale.md" });
  expect(finding?.found).toContain(
    "this cell, eu1, is at https://eu1.example.com, but PUBLIC_URL is https://api.example.com",
  );
});
