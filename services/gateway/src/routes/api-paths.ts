/** The prefix of every path of the API. */
export const API_PATH = "/api/v1";
export const DASHBOARD_PATH = "/app";
/** The prefix of the paths that only the dashboard calls. */
export const DASHBOARD_API_PATH = `${DASHBOARD_PATH}/api`;
export const DESCRIPTION_PATH = `${API_PATH}/openapi.json`;

/** Version of Postrider and of its API. */
export const VERSION = "0.1.0";
