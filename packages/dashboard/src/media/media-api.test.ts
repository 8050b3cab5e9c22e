import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { describeInLists } from "./media-api.ts";

test("a saved description is in every list at once", () => {
  const client = new QueryClient();
  const page = {
    media: [
      { id: "m1", altText: null },
      { id: "m2", altText: null },
    ],
    nextCursor: null,
  };
  for (const filter of [{}, { unused: true }])
    client.setQueryData(["media", "list", filter], { pages: [page], pageParams: [{}] });
  client.setQueryData(["media", "list", "newest"], page);

  describeInLists(client, { id: "m2", altText: "A wheel" });

  const described = { ...page, media: [page.media[0], { id: "m2", altText: "A wheel" }] };
  const shown = client.getQueriesData({ queryKey: ["media", "list"] }).map(([, data]) => data);
  expect(shown).toMatchObject([{ pages: [described] }, { pages: [described] }, described]);
});
