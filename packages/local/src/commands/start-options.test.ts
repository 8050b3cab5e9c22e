import { expect, test } from "vitest";
import { parseStartOptions } from "#src/commands/start-options.ts";

test("`npm start` without arguments is parsed as one replica of each service without Kafka", () => {
  expect(parseStartOptions([])).toEqual({
    port: undefined,
    kafka: false,
    fresh: false,
    replicas: 1,
    noRestart: false,
    help: false,
  });
});

test("every option of `npm start` is parsed", () => {
  expect(
    parseStartOptions(["--port", "9000", "--kafka", "--fresh", "--replicas=3", "--no-restart"]),
  ).toEqual({ port: 9000, kafka: true, fresh: true, replicas: 3, noRestart: true, help: false });
});

test.each([
  [["--port", "0"], '--port takes a whole number from 1 to 65535, not "0"'],
  [["--port", "80.5"], '--port takes a whole number from 1 to 65535, not "80.5"'],
  [["--replicas", "99"], '--replicas takes a whole number from 1 to 9, not "99"'],
  [["--kafak"], "Unknown option '--kafak'"],
])("the invalid arguments %j are refused with a message of one line", (args, message) => {
  expect(() => parseStartOptions(args)).toThrow(message);
});
