import { expect, test } from "vitest";
import { create, whenPost } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const system = await useSharedSystem();

interface Settings {
  readonly settings: Readonly<Record<string, unknown>>;
}

test("posts are validated and published with the settings that were stored for their accounts by the API and by the operator's tool", async () => {
  const tenant = await openTenant(system);
  const { api } = tenant;
  const telegram = await tenant.connect("telegram");
  const bluesky = await tenant.connect("bluesky");
  const path = `/accounts/${telegram}/settings`;
  const body = { format: "html", silent: true };
  expect((await api.call<Settings>("PATCH", path, { body })).body.settings).toEqual({
    ...body,
    linkPreview: true,
  });
  await system.operate("account", "settings", bluesky, "--set", "languages=en");

  const accountIds = [telegram, bluesky];
  const open = { content: "<b>Ships", accountIds };
  const checked = await api.call("POST", "/posts/validate", { body: open });
  expect(JSON.stringify(checked.body)).toContain("markup_invalid");

  const { id } = await create(api, { content: "<b>Ships</b> &amp; sails", accountIds });
  await whenPost(api, id, "published");
  const shown = await tenant.listVisible();
  expect(new Map(shown.map(({ platform, text, options }) => [platform, [text, options]]))).toEqual(
    new Map([
      ["telegram", ["Ships & sails", { parse_mode: "HTML", disable_notification: true }]],
      ["bluesky", ["<b>Ships</b> &amp; sails", { langs: ["en"] }]],
    ]),
  );
});
