import { useInfiniteQuery } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { Card } from "../../kit/card.tsx";
import { Page } from "../../kit/page.tsx";
import { StatusLabel } from "../../kit/status.tsx";

export function PostsScreen() {
  const { data } = useInfiniteQuery({
    queryKey: ["post", "list"],
    queryFn: ({ pageParam, signal }) => api.listPosts({ limit: 20, ...pageParam }, { signal }),
    initialPageParam: {},
    getNextPageParam: ({ nextCursor }) =>
      nextCursor === null ? undefined : { cursor: nextCursor },
  });
  return (
    <Page title="Posts">
      <Card>
        <ul>
          {data?.pages
            .flatMap(({ posts }) => posts)
            .map(({ id, content, status }) => (
              <li key={id}>
                <StatusLabel status={status} /> {content}
              </li>
            ))}
        </ul>
      </Card>
    </Page>
  );
}
