import { expect, test } from "vitest";
import { findOptions } from "./find-options.ts";

const ZONES = ["America/New_York", "Atlantic/Bermuda", "Europe/Berlin"].map((value) => ({
  value,
  label: value.slice(value.indexOf("/") + 1).replace("_", " "),
}));
const find = (query: string) => findOptions(ZONES, query).map(({ label }) => label);

test("options that begin with the query go before those that contain it", () => {
  expect(find("ber")).toEqual(["Bermuda", "Berlin"]);
  expect(find("mer")).toEqual(["New York"]);
});

test("a name with a space is found by its words, and nothing typed finds all", () => {
  expect(find("new york")).toEqual(["New York"]);
  expect(find(" ")).toHaveLength(3);
});
