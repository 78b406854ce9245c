/* The list of programs in a library of experiments. For each kernel, it has the program that the kernel was made
 * from, for the time model. */
#ifndef MSCCLC_EXPERIMENT_LIST_H
#define MSCCLC_EXPERIMENT_LIST_H

#define MSCCLC_EXPERIMENTS_SYMBOL "mscclc_experiments"

/* IR text. The program's name is that of its kernel. */
typedef const char *MscclcExperiment;

/* Every such library defines: extern const MscclcExperiment mscclc_experiments[]; its last entry is null. */

#endif
