import type postgres from "postgres";

const HOUR_MS = 3_600_000;

/** What was published a moment ago is shown as if it had been published at that time. */
export async function moveToPast(sql: postgres.Sql, id: string, at: Date): Promise<void> {
  const [post] = await sql<{ created_at: Date }[]>`
    select created_at from posts.posts where id = ${id}`;
  const ms = at.getTime() - (post?.created_at.getTime() ?? 0);
  const by = `${ms} milliseconds`;
  await sql`update posts.posts set created_at = created_at + ${by}::interval,
    started_at = started_at + ${by}::interval, published_at = published_at + ${by}::interval
    where id = ${id}`;
  await sql`update posts.targets set published_at = published_at + ${by}::interval
    where post_id = ${id}`;
  await sql`update posts.target_attempts set started_at = started_at + ${by}::interval,
    finished_at = finished_at + ${by}::interval
    where target_id in (select id from posts.targets where post_id = ${id})`;
  await sql`update delivery.target_metrics set published_at = published_at + ${by}::interval,
    due_at = now() + interval '1 hour' where post_id = ${id}`;
}

const READ_AFTER_HOURS = [1, 2, 3, 5, 6, 9, 12, 15, 18, 24, 36, 48, 72, 96, 120, 168, 240, 336];

/** Readings as the platforms would have given them since each post was sent. */
export async function addMetrics(sql: postgres.Sql, workspaceId: string): Promise<void> {
  const targets = await sql<{ target_id: string; platform: string; published_at: Date }[]>`
    select target_id, platform, published_at from delivery.target_metrics
    where workspace_id = ${workspaceId} order by published_at, platform`;
  for (const [index, { target_id: id, platform, published_at: at }] of targets.entries()) {
    const most = 300 + ((index * 7919) % 1_900);
    for (const hours of READ_AFTER_HOURS) {
      const read = new Date(at.getTime() + hours * HOUR_MS);
      if (read.getTime() > Date.now()) break;
      const seen = Math.round(most * (1 - Math.exp(-hours / 14)));
      const part = (per: number) => Math.round((seen * per) / 1000);
      const row = {
        views: platform === "x" || platform === "bluesky" ? null : seen,
        impressions: platform === "x" ? seen : null,
        reach: ["instagram", "facebook"].includes(platform) ? part(860) : null,
        likes: part(62),
        comments: part(9),
        shares: part(7),
        saves: ["instagram", "x"].includes(platform) ? part(24) : null,
        refreshed_at: read,
      };
      await sql`insert into delivery.target_metric_history
        ${sql({ target_id: id, workspace_id: workspaceId, ...row })} on conflict do nothing`;
      await sql`update delivery.target_metrics set ${sql(row)} where target_id = ${id}`;
      // As the posts service stores what it is told: 64-bit numbers are texts there.
      const known = Object.entries(row).filter(([, value]) => typeof value === "number");
      const counters = Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
      await sql`update posts.targets
        set metrics = ${sql.json({ ...counters, refreshedAt: read.toISOString() })},
          metrics_refreshed_at = ${read} where id = ${id}`;
    }
  }
}
