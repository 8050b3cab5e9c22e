import { expect, test } from "vitest";
import { loadConfig } from "#src/config.ts";
import { readProcessConfig } from "./service.ts";

const INTERNAL_SECRET = "s".repeat(32);

function read(env: Readonly<Record<string, string>>) {
  return loadConfig({ INTERNAL_SECRET, ...env }, (reader) =>
    readProcessConfig(reader, "sample", 8080),
  );
}

test.each(["OUTBOUND_ALLOW", "SIMULATOR_URL", "FAILPOINTS_DIR"])(
  "a process in production mode refuses to start with %s, even if it does not use this setting",
  (name) => {
    const env = { [name]: "10.0.0.1:80" };
    expect(() => read({ ...env, POSTRIDER_ENV: "production" })).toThrow(
      `${name} must not be set with POSTRIDER_ENV=production`,
    );
    expect(read(env).service).toBe("sample");
    expect(read({ [name]: "", POSTRIDER_ENV: "production" }).service).toBe("sample");
  },
);
