import { expect, test } from "vitest";
import { ConfigError, EnvReader, loadConfig } from "#src/config.ts";
import { readCells } from "#src/config/cells.ts";
import { readEnvironment } from "#src/config/production.ts";

type Settings = Readonly<Record<string, string>>;

function faultsOf(env: Settings): readonly string[] {
  const reader = new EnvReader(env);
  readCells(reader);
  return reader.faults;
}

test("an installation has no cells unless its settings name some", () => {
  expect(readCells(new EnvReader({}))).toEqual({ own: undefined, addresses: new Map() });
});

test("the settings of a cell name it and the public address of each cell", () => {
  const addresses = "eu1=https://eu1.example.com/, us1=https://us1.example.com:8443";
  expect(readCells(new EnvReader({ CELL: "us1", CELL_ADDRESSES: addresses }))).toEqual({
    own: "us1",
    addresses: new Map([
      ["eu1", "https://eu1.example.com"],
      ["us1", "https://us1.example.com:8443"],
    ]),
  });
});

const WRONG: readonly (readonly [string, Settings, string])[] = [
  ["a name in capitals", { CELL: "EU1" }, "CELL is not 1 to 8"],
  ["a name that is too long", { CELL: "frankfurt" }, "CELL is not 1 to 8"],
  ["an address without a cell", { CELL: "eu1", CELL_ADDRESSES: "https://a" }, "is not `cell="],
  ["an address with a path", { CELL: "a", CELL_ADDRESSES: "a=https://a/api" }, "is not `cell="],
  ["an address with a password", { CELL: "a", CELL_ADDRESSES: "a=https://b:c@d" }, "`cell="],
  ["two addresses of one cell", { CELL: "a", CELL_ADDRESSES: "a=https://a,a=https://b" }, "twice"],
  ["addresses without the own one", { CELL: "a", CELL_ADDRESSES: "b=https://b" }, "CELL names"],
  ["addresses without an own name", { CELL_ADDRESSES: "b=https://b" }, "CELL names"],
];

test.each(WRONG)("the settings of a cell refuse %s", (_, env, fault) => {
  expect(faultsOf(env).join("\n")).toContain(fault);
});

test("in production the address of each cell begins with https, because clients send keys to it", () => {
  const env = { POSTRIDER_ENV: "production", CELL: "a", CELL_ADDRESSES: "a=https://a,b=http://b" };
  const load = () =>
    loadConfig(env, (read) => ({ environment: readEnvironment(read), cells: readCells(read) }));
  expect(load).toThrow(ConfigError);
  expect(load).toThrow("CELL_ADDRESSES must not contain http://b with POSTRIDER_ENV=production");
});
