/**
 * Permissions that a new Facebook app may ask for when its developer chose only Meta's use cases
 * for publishing.
 */
export const PUBLISHING_SCOPES: readonly string[] = [
  "business_management",
  "pages_show_list",
  "pages_read_engagement",
  "pages_manage_posts",
];

export const SCOPES: readonly string[] = [
  ...PUBLISHING_SCOPES,
  "pages_manage_engagement",
  "pages_read_user_content",
  "read_insights",
  "pages_messaging",
  "pages_manage_metadata",
];
