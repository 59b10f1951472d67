// What a build needs besides `tsc`, into `dist` or the directory that is named.
require("./copy-assets.cjs");
require("./bundle-typebox.cjs");
