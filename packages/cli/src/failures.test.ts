import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@postrider/contracts/errors/v1/error_pb";
import { invalidRequest, wrongCell } from "@postrider/shared/errors";
import { toServiceError } from "@postrider/shared/errors/connect";
import { expect, test } from "vitest";
import { toFailure } from "./failures.ts";

test("a command for a workspace of another cell names the cell and its address", () => {
  expect(toFailure(wrongCell("us1", "https://us1.test"), "accounts")).toEqual({
    code: "wrong_cell",
    message: "the workspace is in the cell us1, at https://us1.test; run the command in that cell",
    exitCode: 1,
  });
});

test("a service that answers that it is unavailable is not reported as one that does not answer", () => {
  const explain = (error: ConnectError) => toFailure(toServiceError(error), "accounts").message;
  const info = { desc: ErrorInfoSchema, value: { reason: "unavailable" } };
  const answered = new ConnectError("unavailable", Code.Unavailable, undefined, [info]);
  expect(explain(answered)).toContain("the workspace is being moved to another cell");
  expect(explain(new ConnectError("refused", Code.Unavailable))).toContain("start Postrider");
});

test("a wrong name and a missing simulator are explained, and other faults keep their path and code", () => {
  const explain = (path: string, code: string) =>
    toFailure(invalidRequest([{ path, code }]), "accounts").message;
  expect(explain("/name", "wrong_name")).toContain("--confirm must be the name of the workspace");
  expect(explain("/platform", "not_simulated")).toContain("leave it out");
  expect(explain("/name", "too_long")).toBe("the request is invalid: /name too_long");
});
