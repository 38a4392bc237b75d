# SPDX-License-Identifier: MIT
"""PySCF: the energy of water by Hartree and Fock, by density functionals and by perturbation."""
from pyscf import dft, gto, mp, scf

water = gto.M(atom='O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59', basis='cc-pvdz', verbose=0)
field = scf.RHF(water).run(conv_tol=1e-10)
assert abs(field.e_tot + 76.0265) < 1e-3, field.e_tot
functional = dft.RKS(water, xc='b3lyp').run(conv_tol=1e-9)
print(f'{field.e_tot:.9f} {functional.e_tot:.8f} {mp.MP2(field).kernel()[0]:.9f}')
