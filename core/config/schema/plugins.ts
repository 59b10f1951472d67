import Type from "typebox";
import { annotate } from "./annotations.ts";

export const pluginsSchema = Type.Object(
  {
    load: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        "Plugins in addition to the bundled ones: paths (relative to the config directory) or package " +
        "names. Nothing else is loaded.",
    }),
    entries: Type.Record(
      Type.String(),
      Type.Object(
        {
          enabled: Type.Boolean(
            annotate({ fallback: false }, { default: true, description: "false: the plugin is not loaded." }),
          ),
          isolation: Type.Union([Type.Literal("inline"), Type.Literal("worker")], {
            default: "inline",
            description:
              "worker: the plugin runs in a thread of its own, which is started again when it ends; a fault " +
              "of the plugin stops nothing else. Takes effect after a restart.",
          }),
          options: Type.Record(Type.String(), Type.Unknown(), {
            default: {},
            description: "Options of the plugin, checked by its own schema.",
          }),
        },
        { description: "One plugin." },
      ),
      { default: {}, description: "Settings of plugins, by id." },
    ),
  },
  { default: {}, description: "Plugins." },
);
