import { resolve } from "node:path";
import { RuleTester } from "oxlint/plugins-dev";
import { describe, it } from "vitest";
import { layering } from "./layering.ts";

RuleTester.describe = describe;
RuleTester.it = it;

const root = resolve(import.meta.dirname, "..");
const at = (file: string, code: string) => ({
  name: `${file}: ${code}`,
  filename: resolve(root, file),
  code,
});
const refused = (file: string, code: string, message: string) => ({
  ...at(file, code),
  errors: [{ message }],
});

new RuleTester({ languageOptions: { parserOptions: { lang: "ts" } } }).run("layering", layering, {
  valid: [
    at("services/posts/src/rpc/create-post.ts", 'import { insertPost } from "#src/db/posts.ts";'),
    at("services/posts/src/rpc/create-post.ts", 'import { b } from "./b.ts";'),
    at("services/posts/src/rpc/create-post.ts", 'import { built } from "#src/events.ts";'),
    at("services/posts/src/jobs/a.ts", 'import { fold } from "#src/domain/fold.ts";'),
    at(
      "services/posts/src/app.ts",
      'import { a } from "#src/rpc/a.ts"; import { b } from "#src/jobs/b.ts";',
    ),
    at("services/posts/src/domain/a.ts", 'import { b } from "./b.ts";'),
    at(
      "services/posts/src/domain/a.ts",
      'import { PLATFORM_FACTS } from "@postrider/platforms/registry";',
    ),
    at("services/posts/src/domain/a.ts", 'import { createHash } from "node:crypto";'),
    at("services/posts/src/db/a.ts", 'import type { Post } from "#src/domain/post.ts";'),
    at("services/posts/src/db/a.ts", 'import { type Post } from "#src/domain/post.ts";'),
    at("services/posts/src/db/a.ts", 'import type { ISql } from "@postrider/shared/postgres";'),
    at(
      "services/gateway/src/routes/posts/routes.ts",
      'import { b } from "../accounts/mapping.ts";',
    ),
    at("packages/shared/src/a.ts", 'import { b } from "@postrider/contracts/posts/v1/post_pb";'),
    at("services/posts/src/jobs/a.ts", 'import { b } from "#src/operations/b.ts";'),
    at("services/posts/src/operations/a.ts", 'import { b } from "#src/db/b.ts";'),
    at(
      "services/posts/src/domain/a.ts",
      'import type { Outcome } from "@postrider/platforms/publishing/connector";',
    ),
    at("services/posts/src/rpc/to-post.ts", "export const a = 1;"),
    at("services/accounts/src/rpc/platform-service.ts", "export const a = 1;"),
    at("services/gateway/src/http/a.ts", 'import { b } from "./b.ts";'),
    at("services/media/src/inspection/a.ts", 'import { b } from "./b.ts";'),
    at(
      "services/delivery/src/publishing/jobs/a.ts",
      'import { b } from "#src/publishing/db/b.ts"; import { c } from "#src/events.ts";',
    ),
    at(
      "packages/dashboard/src/a.tsx",
      'import { createClient } from "@postrider/client"; import type { A } from "@postrider/rest/dashboard/status";',
    ),
    at("packages/platforms/src/registry.ts", 'import { x } from "#src/x/facts.ts";'),
    at("packages/platforms/src/platforms.ts", 'import { x } from "#src/x/platform.ts";'),
    at("packages/platforms/src/x/publishing/a.ts", 'import { b } from "../facts.ts";'),
    at("packages/platforms/src/x/facts.ts", 'import { b } from "@postrider/shared/http/b";'),
    at("packages/rest/src/x/a.ts", 'import { b } from "@postrider/contracts/posts/v1/post_pb";'),
    at("services/delivery/src/webhooks/operations/a.ts", 'import { b } from "@postrider/rest/b";'),
    at("packages/simulator/src/x/a.ts", 'import { b } from "#src/state.ts";'),
    at("services/posts/src/domain/a.test.ts", 'import { expect } from "vitest";'),
    at("services/posts/test/a.test.ts", 'import { b } from "@postrider/simulator/server";'),
  ],
  invalid: [
    refused(
      "packages/dashboard/src/a.tsx",
      'import { Status } from "@postrider/rest/dashboard/status";',
      'dashboard uses only the types of rest: write "import type".',
    ),
    refused(
      "packages/dashboard/src/a.tsx",
      'import { toError } from "@postrider/shared/errors";',
      "dashboard imports only client, rest, here shared.",
    ),
    refused(
      "services/posts/src/rpc/create-post.ts",
      'import { b } from "#src/consumers/b.ts";',
      "rpc and consumers are both edges: move what they share into operations, domain or db.",
    ),
    refused(
      "services/posts/src/consumers/a.ts",
      'export { b } from "../jobs/b.ts";',
      "consumers and jobs are both edges: move what they share into operations, domain or db.",
    ),
    refused(
      "services/gateway/src/routes/posts/routes.ts",
      'await import("../../jobs/b.ts");',
      "routes and jobs are both edges: move what they share into operations, domain or db.",
    ),
    refused(
      "services/posts/src/domain/a.ts",
      'import { insertPost } from "#src/db/posts.ts";',
      "domain is pure: it imports only domain and the reference data of platforms, not #src/db/posts.ts.",
    ),
    refused(
      "services/posts/src/domain/a.ts",
      'import type { Sql } from "@postrider/shared/postgres";',
      "domain is pure: it imports only domain and the reference data of platforms, not @postrider/shared/postgres.",
    ),
    refused(
      "services/posts/src/domain/a.ts",
      'import { readFile } from "node:fs/promises";',
      "domain is pure: it imports only domain and the reference data of platforms, not node:fs/promises.",
    ),
    refused(
      "services/posts/src/db/a.ts",
      'import { fold } from "#src/domain/fold.ts";',
      'db uses only the types of domain: write "import type".',
    ),
    refused(
      "services/delivery/src/publishing/clients/a.ts",
      'import { b } from "#src/publishing/db/tasks.ts";',
      "clients imports types of domain, shared, platforms and contracts, never db.",
    ),
    refused(
      "services/media/src/storage/a.ts",
      'import { b } from "#src/rpc/b.ts";',
      "storage imports types of domain, shared, platforms and contracts, never rpc.",
    ),
    refused(
      "services/posts/src/clients/a.ts",
      'import { config } from "#src/config.ts";',
      "clients imports types of domain, shared, platforms and contracts, never #src/config.ts.",
    ),
    refused(
      "services/posts/src/rpc/create-post.ts",
      'import { b } from "@postrider/accounts/b";',
      "A service imports only shared, platforms, rest, contracts, never accounts: call it by RPC.",
    ),
    refused(
      "services/posts/src/rpc/create-post.ts",
      'import { b } from "../../../media/src/rpc/b.ts";',
      "A service imports only shared, platforms, rest, contracts, never media: call it by RPC.",
    ),
    refused(
      "packages/shared/src/bus/a.ts",
      'export * from "@postrider/posts/b";',
      "shared imports only contracts, here posts.",
    ),
    refused(
      "services/posts/src/operations/a.ts",
      'import { b } from "#src/jobs/b.ts";',
      "operations are called by edges, so they import none: here jobs.",
    ),
    refused(
      "services/posts/src/domain/a.ts",
      'import { createConnectors } from "@postrider/platforms/platforms";',
      "domain is pure: it imports only domain and the reference data of platforms, not @postrider/platforms/platforms.",
    ),
    refused(
      "services/delivery/src/webhooks/jobs/a.ts",
      'import { b } from "#src/publishing/db/b.ts";',
      "webhooks and publishing do not import each other: each has its own tables and jobs.",
    ),
    refused(
      "services/delivery/src/engagement/rpc/cancel-targets.ts",
      'import { b } from "#src/engagement/jobs/b.ts";',
      "rpc and jobs are both edges: move what they share into operations, domain or db.",
    ),
    refused(
      "packages/platforms/src/text/a.ts",
      'import { b } from "#src/telegram/b.ts";',
      "Only files of telegram/ import from telegram/: pass in what the shared code needs, or add a member to Platform.",
    ),
    refused(
      "packages/platforms/src/registry.ts",
      'import { x } from "./x/platform.ts";',
      "Only files of x/ import from x/: pass in what the shared code needs, or add a member to Platform.",
    ),
    refused(
      "packages/platforms/src/x/a.ts",
      'import { b } from "@postrider/contracts/posts/v1/post_pb";',
      "platforms imports only shared, here contracts.",
    ),
    refused(
      "services/posts/src/rpc/media-claim.ts",
      "export const a = 1;",
      "media-claim.ts is not named after an RPC: move it into operations, domain or db.",
    ),
    refused(
      "services/posts/src/quota-drift.ts",
      "export const a = 1;",
      "Only main.ts, app.ts, config.ts, events.ts, migrate.ts lie directly in src: move quota-drift.ts into its layer.",
    ),
    refused(
      "services/posts/src/http/a.ts",
      "export const a = 1;",
      '"http" is not a layer of a service: see "Where code belongs" in CONTRIBUTING.md.',
    ),
    refused(
      "services/delivery/src/publishing/connectors/a.ts",
      "export const a = 1;",
      '"connectors" is not a layer of a service: see "Where code belongs" in CONTRIBUTING.md.',
    ),
    refused(
      "packages/simulator/src/a.ts",
      'import { newId } from "@postrider/shared/ids";',
      "simulator imports none of our packages, here shared.",
    ),
  ],
});
