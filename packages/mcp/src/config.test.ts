import { expect, test } from "vitest";
import { loadConfig } from "./config.ts";

const KEY = { POSTRIDER_API_KEY: "pr_live_key" };

test("the tools are at /mcp of the installation that the environment names", () => {
  const env = { ...KEY, POSTRIDER_URL: "https://postrider.example.com" };
  expect(loadConfig(env).url.href).toBe("https://postrider.example.com/mcp");
});

test("an address with a password is refused in words that do not repeat it", () => {
  const env = { ...KEY, POSTRIDER_URL: "https://user:secret@postrider.example.com" };
  expect(() => loadConfig(env)).toThrow(
    /^POSTRIDER_URL must be the address of Postrider, without a password, such as [^@]+$/,
  );
});
