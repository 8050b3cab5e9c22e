import { wrongCell } from "@postrider/shared/errors";
import { expect, test } from "vitest";
import { toFailure } from "./failures.ts";

test("a command for a workspace of another cell names the cell and its address", () => {
  expect(toFailure(wrongCell("us1", "https://us1.test"), "accounts")).toEqual({
    code: "wrong_cell",
    message: "the workspace is in the cell us1, at https://us1.test; run the command in that cell",
    exitCode: 1,
  });
});
