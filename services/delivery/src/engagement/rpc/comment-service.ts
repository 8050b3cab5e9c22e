import type { ConnectRouter } from "@connectrpc/connect";
import { CommentService } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { serveMethods } from "@postrider/shared/connect/methods";
import type { CommentRpcDeps } from "./dependencies.ts";
import { getCommentAction } from "./get-comment-action.ts";
import { listComments } from "./list-comments.ts";
import { requestCommentAction } from "./request-comment-action.ts";

export function createCommentRoutes(deps: CommentRpcDeps): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, CommentService, {
      listComments,
      requestCommentAction,
      getCommentAction,
    });
  };
}
