/* What a library of experiments says of its kernels: for each, the program that it was made from, as the time model
 * reads it. */
#ifndef MSCCLC_EXPERIMENT_LIST_H
#define MSCCLC_EXPERIMENT_LIST_H

#define MSCCLC_EXPERIMENTS_SYMBOL "mscclc_experiments"

/* IR text. The program's name is that of its kernel. */
typedef const char *MscclcExperiment;

/* Every such library defines: extern const MscclcExperiment mscclc_experiments[]; the last entry is null. */

#endif
