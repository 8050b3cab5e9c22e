import { SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { describeFailure } from "./bridge.ts";

test("an agent is told to which address the key of another cell belongs", () => {
  const message =
    "The workspace of this API key is in another cell, us1. Send it to https://us1.test.";
  const text = JSON.stringify({ error: { code: "wrong_cell", message } });
  const data = { status: 421, text };
  const error = new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, "421", data);
  expect(describeFailure(error, new URL("https://eu1.test/mcp"))).toBe(
    `Postrider answered 421: ${message} Set POSTRIDER_URL to that address.`,
  );
});
