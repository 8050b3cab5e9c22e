import { expect, test } from "vitest";
import { settingsSource } from "./config.ts";

test("faults name the file in which the settings are corrected, and whether it exists", () => {
  const file = import.meta.filename;
  expect(settingsSource({ POSTRIDER_SETTINGS_FILE: file })).toBe(`${file} and the environment`);
  expect(settingsSource({ POSTRIDER_SETTINGS_FILE: "/none.env" })).toBe(
    "the environment (/none.env does not exist)",
  );
  expect(settingsSource({ POSTRIDER_SETTINGS_FILE: "" })).toBe("the environment");
});
