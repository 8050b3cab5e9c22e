/** The prefix of every path of the API. */
export const API_PATH = "/api/v1";
/** The prefix of the paths that only the dashboard calls. */
export const DASHBOARD_API_PATH = "/app/api";
export const DESCRIPTION_PATH = `${API_PATH}/openapi.json`;
