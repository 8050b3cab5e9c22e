import { expect, test } from "vitest";
import { ensureKafkaJars, javaMajorVersion } from "#src/kafka/kafka-jars.ts";

test.each([
  ['openjdk version "17.0.15" 2025-04-15', 17],
  ['java version "1.8.0_412"', 8],
  ['openjdk version "25" 2025-09-16', 25],
  ["command not understood", undefined],
])("the version text `%s` is read as Java %s", (text, version) => {
  expect(javaMajorVersion(text)).toBe(version);
});

test("the error for a missing Java says that Java cannot be run and how to install it", async () => {
  await expect(ensureKafkaJars({ PATH: "/nowhere" })).rejects.toThrow(
    'Kafka needs Java 17 or newer, and "java" cannot be run: install a JRE or set JAVA_HOME',
  );
});
