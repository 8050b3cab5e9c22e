/** Permissions that the Facebook app has, for publishing, comments, metrics and private replies. */
export const SCOPES: readonly string[] = [
  "pages_show_list",
  "pages_read_engagement",
  "pages_manage_posts",
  "business_management",
  "pages_manage_engagement",
  "pages_read_user_content",
  "read_insights",
  "pages_messaging",
  "pages_manage_metadata",
];
