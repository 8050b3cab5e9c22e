import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "@postrider/local/stack/layout";
import { migrationDatabaseUrl } from "@postrider/shared/postgres/service-role";
import type { System } from "./system.ts";

const FOLDER = join(root, "services/posts/migrations");
const MIGRATE = pathToFileURL(join(root, "packages/shared/src/postgres/migrations.ts")).href;

/** How many rows one batch changes: fifty batches at least, and at most as CONTRIBUTING.md says. */
const batchOf = (posts: number): number => Math.min(1000, Math.ceil(posts / 50));

/** A column that a made-up next release adds to the posts and fills, as CONTRIBUTING.md says. */
const toMigrations = (posts: number): Readonly<Record<string, string>> => ({
  add_label: "alter table posts add column label text;\n",
  index_unlabelled: `-- outside a transaction
create index concurrently if not exists posts_unlabelled on posts (id) where label is null;
`,
  fill_label: `-- in batches
update posts
set label = ''
where id in (select id from posts where label is null order by id limit ${batchOf(posts)})
`,
  drop_unlabelled: `-- outside a transaction
drop index concurrently if exists posts_unlabelled;
`,
});

/** The migrations of posts, and the first ones of the made-up release. Returns their folder. */
export function writeMigrations(folder: string, posts: number, count = Infinity): string {
  mkdirSync(folder);
  cpSync(FOLDER, folder, { recursive: true });
  const known = readdirSync(folder).filter((name) => name.endsWith(".sql")).length;
  const made = Object.entries(toMigrations(posts)).slice(0, count);
  made.forEach(([name, text], index) => {
    const number = String(known + index + 1).padStart(4, "0");
    writeFileSync(join(folder, `${number}_${name}.sql`), text);
  });
  return folder;
}

export interface MigrationProcess {
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  /** What it has printed: its progress. */
  lines(): readonly string[];
  kill(): void;
}

/** Migrates the schema of posts in a process of its own, as the image of the service does. */
export function startMigration(system: System, folder: string): MigrationProcess {
  const url = migrationDatabaseUrl(system.local().databaseUrl, {
    service: "posts",
    migrationPassword: system.secrets().migrationPasswords.posts,
  });
  const program = `const { migrateDatabase } = await import(${JSON.stringify(MIGRATE)});
    await migrateDatabase(${JSON.stringify(url)}, ${JSON.stringify(folder)});`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  return {
    ended: once(child, "close").then(([code, signal]: unknown[]) => (code ?? signal) as number),
    lines: () => printed.split("\n").filter((line) => line !== ""),
    kill: () => child.kill("SIGKILL"),
  };
}

/** Published posts without targets, as rows of the last months. */
export async function fillPosts(system: System, posts: number): Promise<void> {
  const { sql } = system;
  const { workspaceId } = system.local();
  const chunk = 50_000;
  for (let from = 0; from < posts; from += chunk)
    await sql.begin(async (tx) => {
      await tx`set local search_path to posts`;
      await tx`
        insert into posts (id, workspace_id, status, content, options, media_ids, media, created_via, created_at,
          updated_at, started_at, published_at)
        select uuidv7(at - now()), ${workspaceId}, 'published', 'A post of ordinary length, number ' || n, '{}',
          '{}', '[]', 'rest', at, at, at, at
        from (
          select n, now() - interval '100 days' + n * interval '0.5 seconds' as at
          from generate_series(${from + 1}::int, ${Math.min(posts, from + chunk)}::int) as n
        ) as old`;
    });
  await sql`vacuum analyze posts.posts`;
}
