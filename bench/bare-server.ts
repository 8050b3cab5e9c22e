/**
 * Starts the server with which the benchmark `http.ts` compares the gateway: fastify routes without
 * a database, and fastify routes with one SQL statement of the same Postgres driver. Reads
 * DATABASE_URL from the environment and prints its address.
 */
import { randomUUID } from "node:crypto";
import fastify from "fastify";
import postgres from "postgres";

const target = (platform: string) => ({
  id: randomUUID(),
  accountId: randomUUID(),
  platform,
  status: "published",
  externalId: "1859999999999999999",
  permalink: `https://${platform}.example/status/1859999999999999999`,
  publishedAt: "2026-11-21T12:00:00.000Z",
});
const post = {
  id: randomUUID(),
  status: "published",
  content: "A post of ordinary length, as users write it.",
  createdAt: "2026-11-21T12:00:00.000Z",
  updatedAt: "2026-11-21T12:00:01.000Z",
  targets: [target("x"), target("bluesky"), target("telegram")],
};

const sql = postgres(process.env.DATABASE_URL ?? "", { max: 8 });
await sql`create table if not exists bench_posts (id uuid primary key, body text not null)`;
await sql`insert into bench_posts (id, body) values (${post.id}, ${JSON.stringify(post)})`;

const app = fastify();
const text = { type: "string" };
const targetSchema = { type: "object", additionalProperties: text };
const schema = {
  response: {
    200: {
      type: "object",
      properties: {
        id: text,
        status: text,
        content: text,
        createdAt: text,
        updatedAt: text,
        targets: { type: "array", items: targetSchema },
      },
    },
  },
};
app.get("/bare", { schema }, () => post);
/** A finished answer of the given number of bytes. */
app.get<{ Querystring: { bytes: string } }>("/bytes", (request, reply) =>
  reply.type("application/json").send("1".padEnd(Number(request.query.bytes))),
);
app.get("/select", { schema }, async () => {
  const [row] = await sql<{ body: string }[]>`select body from bench_posts where id = ${post.id}`;
  return JSON.parse(row?.body ?? "{}") as unknown;
});
app.post("/insert", async (request) => {
  const id = randomUUID();
  await sql`insert into bench_posts (id, body) values (${id}, ${JSON.stringify(request.body)})`;
  return { id };
});
process.stdout.write(`${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
