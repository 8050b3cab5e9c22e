import { expect, test } from "vitest";
import { loadConfig } from "./config.ts";

const KEY = { POSTRIDER_API_KEY: "pr_live_key" };

test("the MCP tools are called at POSTRIDER_URL with the path /mcp", () => {
  const env = { ...KEY, POSTRIDER_URL: "https://postrider.example.com" };
  expect(loadConfig(env).url.href).toBe("https://postrider.example.com/mcp");
});

test("a POSTRIDER_URL with a password is refused with a message that does not contain the password", () => {
  const env = { ...KEY, POSTRIDER_URL: "https://user:secret@postrider.example.com" };
  expect(() => loadConfig(env)).toThrow(
    /^POSTRIDER_URL must be the address of Postrider, without a password, such as [^@]+$/,
  );
});
