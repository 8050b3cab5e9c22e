import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const folder = join(import.meta.dirname, "../../kafka");
const pom = join(folder, "pom.xml");
const lib = join(folder, "lib");

export type JavaEnvironment = Readonly<
  Partial<Record<"PATH" | "HOME" | "JAVA_HOME" | "MAVEN_OPTS", string | undefined>>
>;

export function javaProgram(env: JavaEnvironment): string {
  return env.JAVA_HOME === undefined || env.JAVA_HOME === ""
    ? "java"
    : join(env.JAVA_HOME, "bin/java");
}

/**
 * Checks Java 17 and the jars in `kafka/lib`, which Maven downloads if they are missing or
 * `pom.xml` has changed. Returns the class path; throws in one line that names the missing program.
 */
export async function ensureKafkaJars(env: JavaEnvironment): Promise<string> {
  await requireJava(env);
  const stamp = join(lib, ".pom-sha256");
  const wanted = createHash("sha256").update(readFileSync(pom)).digest("hex");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) await download(env, wanted);

  return join(lib, "*");
}

/**
 * Parses the major version in the output of `java -version`: 17 from `"17.0.15"`, 8 from
 * `"1.8.0_412"`.
 */
export function javaMajorVersion(text: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(text);
  return match === null ? undefined : Number(match[1]);
}

async function requireJava(env: JavaEnvironment): Promise<void> {
  const program = javaProgram(env);
  const { stderr } = await run(program, ["-version"], { env }).catch((error: unknown) => {
    throw new Error(
      `Kafka needs Java 17 or newer, and "${program}" cannot be run: install a JRE or set JAVA_HOME`,
      { cause: error },
    );
  });
  const version = javaMajorVersion(stderr);
  if (version === undefined || version < 17)
    throw new Error(`Kafka needs Java 17 or newer; "${program}" is ${version ?? "something else"}`);
}

// Downloads the jars into a temporary folder and renames it at the end, so that concurrent or
// interrupted downloads leave no incomplete library.
async function download(env: JavaEnvironment, stamp: string): Promise<void> {
  const unfinished = join(folder, `lib-unfinished-${process.pid}`);
  mkdirSync(unfinished, { recursive: true });
  try {
    await run(
      "mvn",
      [
        "--quiet",
        "--batch-mode",
        `--file=${pom}`,
        "dependency:copy-dependencies",
        `-DoutputDirectory=${unfinished}`,
        "-DincludeScope=runtime",
      ],
      { env, maxBuffer: 16_000_000 },
    );
    writeFileSync(join(unfinished, ".pom-sha256"), stamp);
    rmSync(lib, { recursive: true, force: true });
    renameSync(unfinished, lib);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw new Error(`Maven could not bring Kafka's jars: ${mavenReason(error)}`, { cause: error });
  }
}

function mavenReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);

  if ("code" in error && error.code === "ENOENT")
    return '"mvn" cannot be run: install Maven 3.8 or newer';

  const said = "stdout" in error ? String(error.stdout).trim().split("\n")[0] : undefined;
  return said === undefined || said === "" ? error.message : said;
}
